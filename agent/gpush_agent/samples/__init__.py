"""What the node does at this moment, for `gpush top`: the builtin `sample` and what it reads (docs/technical/top.md)."""
