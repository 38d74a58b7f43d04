"""Who is talking."""

from dataclasses import dataclass


@dataclass
class Session:
    reader_id: str
    language: str = "en"
