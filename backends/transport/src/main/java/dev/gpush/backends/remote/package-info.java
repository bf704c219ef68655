/**
 * What backends on other machines have in common: a wait in their queue and its rollback ({@code
 * QueuedRequest}), answers of a gang's agents ({@code AgentAnswer}), facts that a cluster keeps
 * about a gang ({@code GangTag}), text from there made fit to be shown, and that a question had no
 * answer ({@code Unanswered}). Sees no backend.
 */
@NullMarked
package dev.gpush.backends.remote;

import org.jspecify.annotations.NullMarked;
