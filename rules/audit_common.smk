"""What `audit.smk` asks the config for; no rule stands here."""

AUDIT = config["audit"]
AUDIT_MODELS = [arm for arm in AUDIT["models"] if arm != "main"] if AUDIT else []


def audit_asked(*keys):
    """Leaves of the section `audit`, as params."""
    return lambda wildcards: {key: AUDIT[key] for key in keys}


def audit_if(wanted, files):
    """Files of a part of the audit that this stage has, for these threats; else none."""
    return lambda wildcards: files(wildcards) if AUDIT["complete"] and wanted in (None, *AUDIT["threats"]) else []


def audit_facts(wildcards):
    return AUDIT["facts"]


def audit_private(wildcards):
    """What private contexts are worth and give away, where epsilons are asked for."""
    folder = f"<results>/scores/tabpate/{wildcards.dataset}"
    return [f"{folder}/utility.parquet", f"{folder}/attack.parquet"] if AUDIT["epsilons"] else []


def audit_public(wildcards):
    """What private contexts may know of the table."""
    return config["datasets"][wildcards.dataset]["public"] if AUDIT["epsilons"] else []


def audit_tuned(wildcards):
    """What the probes of fine-tuned models have found, where they are asked for."""
    found = [f"<results>/scores/iclmem/{wildcards.dataset}/results.parquet", "<results>/scores/iclmem/outcomes.parquet"]
    return found if AUDIT["finetune"] else []


def audit_mitigations(wildcards):
    return [f"<results>/scores/attacks/{wildcards.dataset}/mitigations.parquet"]


def audit_policy(wildcards):
    """How the table is read, all copies kept: so the records stand in the order of its rows."""
    policy = data_policy(wildcards)
    drop = [*policy["drop"], *filter(None, [policy["group"]])]
    return policy | {"duplicates": "keep", "conflicts": "keep", "group": None, "drop": drop}


def audit_target(wildcards):
    """What `snakemake audit` makes."""
    if AUDIT is None:
        raise WorkflowError("audit: this config has no section `audit`; `./memaudit audit TABLE` writes one")
    return f"<results>/audit/{AUDIT['dataset']}/index.html"
