@NullMarked
package dev.gpush.gateway.session.saves;

import org.jspecify.annotations.NullMarked;
