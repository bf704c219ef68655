package dev.gpush.core.fabric;

import java.util.List;

/** The recipes for networks of providers, as the files have them now. */
public interface Recipes {
  /**
   * The site's first, then those in the jar; of one name the site's only. A file that was edited
   * counts at the next call; a mistake in it is thrown as {@code ConfigFailure.Invalid}.
   */
  List<Recipe> all();
}
