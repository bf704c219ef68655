/** The life of sessions, their ledger and leases. */
@NullMarked
package dev.gpush.gateway;

import org.jspecify.annotations.NullMarked;
