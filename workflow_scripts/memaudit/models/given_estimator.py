"""An estimator of the user's own, given to `memaudit.audit` as an object, fitted on frames like the user's.

Pipelines, classes of the user's and of other packages, and parameters that are no plain values are audited as they are.
The audit from Python pickles such an estimator into its private folder; its jobs read that file alone, by its checksum.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from pickle import PicklingError
from typing import Any

import cloudpickle
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from memaudit.common.arrays import Array
from memaudit.common.checksums import sha256 as checksum
from memaudit.common.errors import AuditError
from memaudit.common.io import replacing
from memaudit.models.network_sharing import UnfittedCopies
from memaudit.models.user_frames import UserFrame, labels_of, places_of


@dataclass(frozen=True)
class Given:
    """What is pickled: the estimator without its fit, and the form of the user's table."""

    estimator: Any
    frame: UserFrame


def given(estimator: Any, frame: UserFrame, seed: int = 0) -> Given:
    """An estimator without its fit, for frames of this form.

    Parameters `random_state` that are None become the seed, at any depth, so that the same context gives the same
    answers. Raises AuditError for an estimator that keeps its fit when it is cloned.
    """
    name = type(estimator).__name__
    try:
        unfitted = clone(estimator)
        parameters = unfitted.get_params()
    except (TypeError, AttributeError, RuntimeError) as error:
        raise AuditError(
            f"model {name}: sklearn.base.clone does not copy it ({error}); derive it from BaseEstimator"
        ) from error
    if any(_is_frozen(part) for part in (unfitted, *parameters.values())):
        raise AuditError(
            f"model {name}: a part of it is frozen, so that no context is fitted; give the model that is fitted anew"
        )
    states = {
        name: seed for name, value in parameters.items() if name.rpartition("__")[2] == "random_state" and value is None
    }
    return Given(unfitted.set_params(**states), frame)


def _is_frozen(part: Any) -> bool:
    """Whether a part of an estimator keeps its fit when it is cloned, as FrozenEstimator does."""
    cloned = getattr(type(part), "__sklearn_clone__", BaseEstimator.__sklearn_clone__)
    return cloned is not BaseEstimator.__sklearn_clone__


def write(content: Given, path: Path) -> str:
    """Write the file that `GivenEstimator` reads, and return its checksum.

    Classes and functions of a notebook or of the program that runs go by value, others by their module, which is looked
    for where Python finds modules now. Raises AuditError for what cannot be pickled.
    """
    try:
        with replacing(path) as temporary, open(temporary, "wb") as file:
            cloudpickle.dump([os.path.abspath(folder) for folder in sys.path], file)
            cloudpickle.dump(content, file)
    except (TypeError, AttributeError, PicklingError) as error:
        raise AuditError(
            f"model {type(content.estimator).__name__}: cannot be pickled ({error}); give an estimator without open "
            "files, locks or connections"
        ) from error
    return checksum(path)


class GivenEstimator(BaseEstimator):
    """The estimator behind a file of `Given`; features are the codes of a schema, see `record_encoding.encode`.

    It is fitted on frames, or arrays, of the user's form (`UserFrame`). Raises AuditError for another file than the one
    that the audit has written.
    """

    def __init__(self, path: str = "", sha256: str = "", schema: Mapping[str, Any] | None = None):
        self.path, self.sha256, self.schema = path, sha256, schema

    def fit(self, X: Array, y: NDArray[Any]) -> "GivenEstimator":
        """Fit a new copy of the estimator; one without `classes_` is taken to order its labels as sorted."""
        frame = self._content().frame
        self.model_ = _copies(self.path, self.sha256).fresh()
        classes = frame.classes(self.schema)
        targets = y if classes is None else labels_of(y, classes)
        self.model_.fit(frame.restored(X, self.schema), targets)
        if classes is not None:
            own = getattr(self.model_, "classes_", None)
            self.classes_ = places_of(np.unique(targets) if own is None else own, classes)
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Numbers, or codes of classes."""
        frame = self._content().frame
        answers, classes = self.model_.predict(frame.restored(X, self.schema)), frame.classes(self.schema)
        return answers if classes is None else places_of(answers, classes)

    @available_if(lambda self: hasattr(self._content().estimator, "predict_proba"))
    def predict_proba(self, X: Array) -> Array:
        """Probabilities of `classes_`. Raises AuditError where these are not as many as the columns."""
        answers = np.asarray(self.model_.predict_proba(self._content().frame.restored(X, self.schema)))
        if answers.shape != (len(X), len(self.classes_)):
            raise AuditError(
                f"model {type(self.model_).__name__}: predict_proba gives the shape {answers.shape} for {len(X)} rows, "
                f"fitted on {len(self.classes_)} classes; give one column for each class, in the order of classes_"
            )
        return answers

    def __sklearn_tags__(self) -> Any:
        return get_tags(self._content().estimator)

    def _content(self) -> Given:
        return _read(self.path, self.sha256)


@cache
def _copies(path: str, sha256: str) -> UnfittedCopies:
    return UnfittedCopies(_read(path, sha256).estimator, lambda: _opened(path, sha256).estimator)


@cache
def _read(path: str, sha256: str) -> Given:
    return _opened(path, sha256)


def _opened(path: str, sha256: str) -> Given:
    """The content of a file that `write` has made. Raises AuditError for another one."""
    if not Path(path).is_file() or checksum(path) != sha256:
        raise AuditError(f"{path}: not the estimator that this audit was given; call memaudit.audit again")
    with open(path, "rb") as file:
        sys.path.extend(folder for folder in cloudpickle.load(file) if folder not in sys.path)
        try:
            return cloudpickle.load(file)
        except (ImportError, AttributeError) as error:
            raise AuditError(
                f"the estimator cannot be opened in another process ({error}); install that module"
            ) from error
