package dev.gpush.core.fabric;

import java.util.List;

/** The recipes for networks of providers. */
public interface Recipes {
  /** In their order: of one variable that several set, the first counts. */
  List<Recipe> all();
}
