"""Where a model's weights come from on a hub, as messages, cards and tables name it. Standard library only."""

from collections.abc import Mapping


def hub_address(hub: Mapping[str, str | None]) -> str:
    """Return `owner/name/place@revision` of a catalogue's hub entry: its repo, file or folder (`.`: all), revision."""
    place = hub.get("file") or hub.get("folder")
    return f"{hub['repo']}{f'/{place}' if place and place != '.' else ''}@{hub['revision']}"
