"""Operations and memory of a forward pass from the shapes alone, for `snakemake plan` and the benchmarks.

A multiplication and an addition are two operations; norms, activations and softmaxes are left out.
"""

# Arguments of tabicl.TabICL that decide its cost, with the defaults of tabicl 2.2.0: those of the published models.
TABICL = {
    "embed_dim": 128,
    "col_num_blocks": 3,
    "col_num_inds": 128,
    "col_feature_group": "same",
    "col_feature_group_size": 3,
    "row_num_blocks": 3,
    "row_num_cls": 4,
    "icl_num_blocks": 12,
    "ff_factor": 2,
}


# The same of TabPFN, with the defaults of tabpfn 9.2.0. Up to v2.6 a token is a group of cells, `ff_factor` is fixed by
# the version; v3 has the three stages of TabICL, and a mark of missing cells beside each.
TABPFN = {
    "v2": {"emsize": 192, "nlayers": 12, "features_per_group": 2, "num_thinking_rows": 0, "ff_factor": 4},
    "v2.5": {"emsize": 192, "nlayers": 24, "features_per_group": 3, "num_thinking_rows": 64, "ff_factor": 2},
}
TABPFN["v2.6"] = TABPFN["v2.5"]
TABPFN_OF_ROWS = {"v3": {"icl_num_blocks": 24}, "v3.5": {"icl_num_blocks": 24, "row_num_cls": 8}}  # else as TabICL
NAMES = {
    "embed_dim": "embed_dim",
    "dist_embed_num_blocks": "col_num_blocks",
    "dist_embed_num_inducing_points": "col_num_inds",
    "feat_agg_num_blocks": "row_num_blocks",
    "feat_agg_num_cls_tokens": "row_num_cls",
    "nlayers": "icl_num_blocks",
    "ff_factor": "ff_factor",
}  # of v3's arguments in TABICL


def block(queries: int, keys: int, width: int, ff_factor: int) -> int:
    """Operations of a transformer block: projections, attention of `queries` on `keys` tokens, feed-forward layer."""
    return 4 * width * (queries * width * (1 + ff_factor) + keys * width + queries * keys)


def tabicl(context: int, queries: int, columns: int, **architecture: int | str) -> int:
    """Return the operations of one TabICL forward pass: a table of context and query rows (Qu et al. 2025, Section 3).

    architecture: arguments of tabicl.TabICL, others are ignored. PyTorch's counter reports 3 to 10 % more: the
    networks that scale the softmax are left out (tests/memaudit/models/test_flops).
    """
    shape = TABICL | architecture
    rows, ff, width = context + queries, shape["ff_factor"], shape["embed_dim"]
    size, inducing, heads = shape["col_feature_group_size"], shape["col_num_inds"], shape["row_num_cls"]
    groups = _groups(columns, shape)
    # Columns: inducing points attend to the context, then every row to the inducing points (Lee et al. 2019).
    induced = block(inducing, context, width, ff) + block(rows, inducing, width, ff)
    by_column = groups * (shape["col_num_blocks"] * induced + 2 * rows * size * width)
    # Rows: cells and class tokens of a row attend to each other, in the last block only the class tokens.
    tokens = groups + heads
    inner = (shape["row_num_blocks"] - 1) * block(tokens, tokens, width, ff)
    by_row = rows * (inner + block(heads, tokens, width, ff))
    wide = heads * width
    learning = shape["icl_num_blocks"] * block(rows, context, wide, ff) + 4 * rows * wide**2
    return by_column + by_row + learning


def tabpfn(context: int, queries: int, columns: int, version: str, **architecture: int | str) -> int:
    """Return the operations of one TabPFN forward pass: a table of context and query rows (Hollmann et al. 2025).

    architecture: of the version's config in tabpfn, others are ignored. A block of v2 to v2.6 attends along rows, then
    along columns, then applies two layers, the inner one `ff_factor` times as wide; thinking rows stand before the
    context. The decoder is left out.
    """
    if version in TABPFN_OF_ROWS:
        named = {NAMES[name]: value for name, value in architecture.items() if name in NAMES}
        size = 2 * int(architecture.get("feature_group_size", 3))
        return tabicl(context, queries, columns, **TABPFN_OF_ROWS[version] | named, col_feature_group_size=size)
    shape = TABPFN[version] | {name: value for name, value in architecture.items() if name in TABPFN[version]}
    width, thinking = shape["emsize"], shape["num_thinking_rows"]
    keys, rows = context + thinking, context + queries + thinking
    tokens = -(-columns // shape["features_per_group"]) + 1
    along_rows = rows * tokens * (8 * width**2 + 4 * tokens * width)
    along_columns = tokens * (4 * width**2 * (rows + keys) + 4 * rows * keys * width)
    feed_forward = 4 * shape["ff_factor"] * rows * tokens * width**2
    return shape["nlayers"] * (along_rows + along_columns + feed_forward)


def tabicl_bytes(context: int, queries: int, columns: int, **architecture: int | str) -> int:
    """Return the bytes of a forward pass in fp32 beside the weights: about 16 arrays like the table's embedding.

    The embedding is (row, token, width). Measured on the CPU: 15.2 arrays with either architecture at 3,500 rows.
    """
    shape = TABICL | architecture
    return 16 * 4 * (context + queries) * (_groups(columns, shape) + shape["row_num_cls"]) * shape["embed_dim"]


def tabicl_states(**architecture: int | str) -> int:
    """Return the numbers in the hidden states of one query, in all blocks of in-context learning."""
    shape = TABICL | architecture
    return shape["icl_num_blocks"] * shape["row_num_cls"] * shape["embed_dim"]


def _groups(columns: int, shape: dict[str, int | str]) -> int:
    return -(-columns // shape["col_feature_group_size"]) if shape["col_feature_group"] == "valid" else columns
