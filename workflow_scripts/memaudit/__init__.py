"""What has a model memorized, how far can that be trusted, and what does a private defence cost?"""

import os

# Before anything imports a hub client: only the fetch rules reach the network, and their scripts take this off again.
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
os.environ.update(OFFLINE)
