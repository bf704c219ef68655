"""The one clock that leases, timers and heartbeats go by. Monotonic: nobody sets it, and it means nothing elsewhere. A module of
its own, so that a test can send another one along."""
import time

now = time.monotonic
