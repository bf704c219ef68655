@NullMarked
package dev.gpush.gateway.session.live;

import org.jspecify.annotations.NullMarked;
