"""Validate an unpacked archive as a Workflow Run RO-Crate, without a network: .venv-rocrate/bin/python FILE FOLDER

`.ci/run` makes .venv-rocrate. The validator reads the context of RO-Crate 1.1 by its address; here it is that of an
older release of `rocrate`, which ships it. Prints what `rocrate` reads and what the validator objects to.
"""

import io
import json
import sys
import tempfile
from pathlib import Path

from requests import Response
from requests.adapters import BaseAdapter
from requests_cache import CachedSession
from rocrate.rocrate import ROCrate
from rocrate_validator.models import Severity, ValidationSettings
from rocrate_validator.services import validate
from urllib3 import HTTPResponse

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
SHIPPED = Path(sys.prefix, "contexts/rocrate/data/ro-crate.jsonld")


class Shipped(BaseAdapter):
    """Answers every request with the context."""

    def send(self, request, **_):
        response = Response()
        response.status_code, response.url, response.request = 200, request.url, request
        response.headers["Content-Type"] = "application/ld+json"
        response.raw = HTTPResponse(io.BytesIO(SHIPPED.read_bytes()), response.headers, 200, preload_content=False)
        return response

    def close(self):
        pass


def main(folder: str) -> None:
    """Print as JSON: what the run is made of, the number of checks, and the issues."""
    crate = ROCrate(folder)
    (action,) = (entity for entity in crate.get_entities() if entity.type == "CreateAction")
    read = {
        "workflow": crate.mainEntity.id,
        "language": crate.mainEntity.lang.name,
        "instrument": action["instrument"].id,
    }
    read |= {kind: sorted(entity.id for entity in action[kind]) for kind in ("object", "result")}
    with tempfile.TemporaryDirectory() as cache:
        session = CachedSession(f"{cache}/http", backend="sqlite")
        session.mount("https://", Shipped())
        session.get(CONTEXT)
        settings = ValidationSettings(
            rocrate_uri=folder,
            profile_identifier="workflow-run-crate",
            requirement_severity=Severity.REQUIRED,
            cache_path=f"{cache}/http",
            offline=True,
        )
        result = validate(settings)
    read["issues"] = [f"{issue.check.identifier}: {issue.message}" for issue in result.get_issues()]
    read["checks"] = len(result.executed_checks)
    print(json.dumps(read))


if __name__ == "__main__":
    main(sys.argv[1])
