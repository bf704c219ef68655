/**
 * The git repository of the editors' node: it follows the one on this machine, and commits that are
 * made there come home (docs/technical/history.md).
 */
@NullMarked
package dev.gpush.gateway.session.history;

import org.jspecify.annotations.NullMarked;
