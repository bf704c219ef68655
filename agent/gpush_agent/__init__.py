"""The gpush agent: holds one node of a gang and serves it over one link (docs/technical/link.md). README.md names the packages."""
