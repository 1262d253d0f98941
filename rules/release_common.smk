"""What `release.smk` asks the config for; no rule stands here."""

RELEASE = config["release"]
if RELEASE:
    # Before any job: what is written by hand is wrong more often than anything else. Only here, for pandas is slow.
    from memaudit.privacy.public_facts import read_facts

    try:
        read_facts(in_project(os.path.expanduser(RELEASE["public"])))
    except AuditError as error:
        raise WorkflowError(f"release/public: {error}")


def release_target(wildcards):
    """What `snakemake release` makes."""
    if RELEASE is None:
        raise WorkflowError("release: this config has no section `release`; docs/release.md says how to write one")
    files = ["context.parquet", "statement.md", "statement.json"]
    return expand("<results>/release/{dataset}/{file}", dataset=RELEASE["dataset"], file=files)


def release_settings(wildcards):
    """What decides about a release, and what the statement says of it."""
    return {key: value for key, value in RELEASE.items() if key not in ("dataset", "public", "ledger")}


def release_ledger(wildcards):
    return in_project(os.path.expanduser(RELEASE["ledger"]))
