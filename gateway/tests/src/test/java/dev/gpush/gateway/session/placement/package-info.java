@NullMarked
package dev.gpush.gateway.session.placement;

import org.jspecify.annotations.NullMarked;
