@NullMarked
package dev.gpush.gateway.session.forward;

import org.jspecify.annotations.NullMarked;
