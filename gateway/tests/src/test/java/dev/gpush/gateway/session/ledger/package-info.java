@NullMarked
package dev.gpush.gateway.session.ledger;

import org.jspecify.annotations.NullMarked;
