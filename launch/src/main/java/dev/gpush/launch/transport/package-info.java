/**
 * The network that ranks really use: what each node says of it ({@code NodeTransport}), and the
 * verdict of the whole run ({@code TransportVerdict}), which is pure.
 */
@NullMarked
package dev.gpush.launch.transport;

import org.jspecify.annotations.NullMarked;
