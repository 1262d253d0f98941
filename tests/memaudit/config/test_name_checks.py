"""Unknown names get the closest known one; gated weights need accepted terms."""

from types import SimpleNamespace

from memaudit.config.name_checks import hint, licence_faults, unknown

GATED = SimpleNamespace(terms="https://example.org/terms", licence="own")


def test_the_closest_name_is_offered_and_all_of_them_where_none_is_close():
    assert hint("brest", ["breast", "wine"]) == "; did you mean `breast`?"
    assert hint("zzz", ["wine", "breast"]) == "; known: breast, wine"


def test_an_unknown_name_says_where_its_catalogue_stands():
    config = SimpleNamespace(models={"tabicl-small": None})
    assert list(unknown("lira/model", ["tabicl-small"], "models", config)) == []
    (line,) = unknown("lira/model", ["tabicl-smal"], "models", config)
    assert line.endswith("did you mean `tabicl-small`? (the catalogue is config/models.yaml)")


def test_terms_must_be_accepted_by_name():
    config = SimpleNamespace(models={"x": GATED}, accept_licences=[])
    (line,) = licence_faults({"lira/model": "x"}, config)
    assert line.startswith("lira/model: the weights of x (own) have terms of their own; read https://example.org/terms")
    config.accept_licences = ["x"]
    assert list(licence_faults({"lira/model": "x"}, config)) == []
