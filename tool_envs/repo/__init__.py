"""Issues in a code base: an agent reads, edits and tests a repository at one commit."""
