"""Language models as classifiers with one token: padding has no effect, and a small one learns to answer."""

import numpy as np
import small_classifiers
import torch
from small_classifiers import one_token, seeded

from memaudit.models import language_model_classifiers, token_questions


def test_tokens_after_a_question_change_nothing():
    module, tokens = one_token(0), small_classifiers.data()["text"].x
    padded = torch.cat([tokens[:, :4], torch.full_like(tokens[:, :2], token_questions.END)], 1)
    with torch.no_grad():
        torch.testing.assert_close(module(padded), module(tokens[:, :4]))


def test_a_small_language_model_learns_to_read_cells_and_to_answer():
    words = token_questions.Words(columns=3, bins=4, classes=2)
    cells = np.array([[0, 1, 3], [2, 2, 0]])
    module = seeded(0, lambda: language_model_classifiers.language_model("gpt2", words.size, 4, 32, 1, 2, 32))
    loss = language_model_classifiers.pretrain(module, words, 120, 64, 0.01, np.random.default_rng(0))
    assert loss < 0.6 * np.log(2)
    logits = language_model_classifiers.OneTokenClassifier(module)(torch.from_numpy(words.questions(cells)))[0].softmax(
        -1
    )
    assert logits[:, 14:].sum(1).min() > 0.95
