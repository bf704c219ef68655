@NullMarked
package dev.gpush.gateway.session.lifecycle;

import org.jspecify.annotations.NullMarked;
