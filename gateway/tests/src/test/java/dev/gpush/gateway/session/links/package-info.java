@NullMarked
package dev.gpush.gateway.session.links;

import org.jspecify.annotations.NullMarked;
