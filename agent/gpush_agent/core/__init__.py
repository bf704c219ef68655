"""The base of everything else: the event loop, processes, locks on files, refusals. Knows nothing of links, gangs or runs."""
