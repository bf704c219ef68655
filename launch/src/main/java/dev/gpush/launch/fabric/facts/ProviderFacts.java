package dev.gpush.launch.fabric.facts;

import java.util.List;
import java.util.Optional;

/**
 * What tells whose machine a node is.
 *
 * @param files those that exist, of a fixed list
 * @param product what the firmware says of vendor and product
 * @param plugins network plugins that NCCL would load; absent where that is not known
 * @param hiddenPlugins those that are on the machine where NCCL does not look
 */
public record ProviderFacts(
    List<String> files,
    List<String> product,
    Optional<List<String>> plugins,
    List<String> hiddenPlugins) {
  public ProviderFacts {
    files = List.copyOf(files);
    product = List.copyOf(product);
    plugins = plugins.map(List::copyOf);
    hiddenPlugins = List.copyOf(hiddenPlugins);
  }

  static ProviderFacts read(FactReader json) {
    FactReader provider = json.object("provider");
    List<String> plugins = json.texts("plugins");
    return new ProviderFacts(
        provider.texts("files"),
        provider.anyTexts("product"),
        Optional.of(plugins).filter(_ -> json.isList("plugins")),
        json.texts("plugins_off_path"));
  }
}
