/** What the transport {@code builtin} reads; its contract is tested one package above. */
@org.jspecify.annotations.NullMarked
package dev.gpush.backends.transport.builtin;
