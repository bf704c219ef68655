/** The life of sessions, their ledger and leases, and the SSH server that IDEs connect to. */
@NullMarked
package dev.gpush.gateway;

import org.jspecify.annotations.NullMarked;
