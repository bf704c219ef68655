"""What everything else stands on: the event loop, processes, locks on files, refusals. Knows nothing of links, gangs or runs."""
