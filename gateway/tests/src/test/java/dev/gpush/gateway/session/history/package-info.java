@NullMarked
package dev.gpush.gateway.session.history;

import org.jspecify.annotations.NullMarked;
