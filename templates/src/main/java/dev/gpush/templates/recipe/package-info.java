/**
 * Recipes for the networks of providers, as YAML has them: {@code RecipeReader} makes values of
 * them and finds what is wrong, with its place.
 */
@NullMarked
package dev.gpush.templates.recipe;

import org.jspecify.annotations.NullMarked;
