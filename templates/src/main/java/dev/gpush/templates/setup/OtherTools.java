package dev.gpush.templates.setup;

import dev.gpush.core.setup.HostSource;
import dev.gpush.core.setup.SetupQuestion;
import dev.gpush.templates.setup.YamlFolder.YamlFile;
import dev.gpush.templates.yaml.Yaml;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The hosts of SkyPilot's ssh node pools ({@code ~/.sky/ssh_node_pools.yaml}) and of dstack's ssh
 * fleets (files with {@code type: fleet} in the folder). Nothing else of these files is read: where
 * the two tools keep keys and tokens is no business of gpush.
 */
public final class OtherTools implements HostSource {
  @Override
  public List<ListedHost> hosts(SetupQuestion question) {
    var hosts = new ArrayList<ListedHost>();
    Path pools = question.home().resolve(".sky/ssh_node_pools.yaml");
    YamlFolder.read(pools)
        .ifPresent(
            content -> {
              if (content instanceof Yaml.Mapping mapping) {
                for (Yaml.Entry pool : mapping.entries()) {
                  String origin = question.shown(pools) + ":" + pool.at().line();
                  add(hosts, pool.value(), "ip", pool.key(), origin);
                }
              }
            });
    for (YamlFile file : YamlFolder.in(question.folder())) {
      Yaml content = file.content();
      if (content.text("type").equals(Optional.of("fleet"))) {
        String group = content.text("name").orElse("fleet");
        content
            .get("ssh_config")
            .ifPresent(fleet -> add(hosts, fleet, "hostname", group, file.name()));
      }
    }
    return hosts;
  }

  private static void add(
      List<ListedHost> hosts, Yaml list, String key, String group, String origin) {
    for (Yaml item : list.items("hosts")) {
      Optional<String> name = item.asText();
      Optional<String> host = name.or(() -> item.text(key));
      // A Host of the ssh configuration has its user there.
      Optional<String> user =
          name.isPresent() && key.equals("ip")
              ? Optional.empty()
              : item.text("user").or(() -> list.text("user"));
      host.ifPresent(
          it ->
              hosts.add(
                  new ListedHost(
                      user.map(who -> who + "@").orElse("") + it, Optional.of(group), origin)));
    }
  }
}
