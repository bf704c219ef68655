"""The clock of leases, timers and heartbeats. Monotonic: it cannot be set, and has no meaning on other machines. It has its
own module, so that a test can send another one."""
import time

now = time.monotonic
