/** A small JSON value with limits, for untrusted payloads, the ledger and --json output. */
@NullMarked
package dev.gpush.core.json;

import org.jspecify.annotations.NullMarked;
