"""Records in the forms that other systems train on and look at, each export with a manifest beside it."""

from tool_envs.trajectory.exports.export import INDEX, export_records
from tool_envs.trajectory.exports.formats import FORMATS, Format, find_format
from tool_envs.trajectory.exports.manifest import MANIFEST, Manifest, read_manifest
from tool_envs.trajectory.exports.source import Context, Source, Tokenizer, TokenizerRef

__all__ = [
    "FORMATS",
    "INDEX",
    "MANIFEST",
    "Context",
    "Format",
    "Manifest",
    "Source",
    "Tokenizer",
    "TokenizerRef",
    "export_records",
    "find_format",
    "read_manifest",
]
