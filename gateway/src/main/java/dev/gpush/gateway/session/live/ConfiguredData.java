package dev.gpush.gateway.session.live;

import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.config.Config;
import dev.gpush.core.config.DataPlace;
import dev.gpush.core.config.DataPlace.OwnerName;
import dev.gpush.core.config.DataPlace.Volume;
import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import dev.gpush.launch.node.DataFolder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The data that a configuration names: {@code mounts}, {@code outputs} and {@code home}. */
public final class ConfiguredData {
  private static final String MOUNTS = "mounts";
  private static final String OUTPUTS = "outputs";
  private static final String HOME = GangRequest.Volume.HOME;

  /** Where volumes are mounted, each at its name. */
  private static final String ROOT = "/mnt/";

  private final OwnerName owner;

  /** By key, {@code mounts.data}. */
  private final Map<String, DataPlace> places = new TreeMap<>();

  private ConfiguredData(OwnerName owner) {
    this.owner = owner;
  }

  public static ConfiguredData of(Config config, String owner) {
    var data = new ConfiguredData(new OwnerName(owner));
    config
        .value(MOUNTS)
        .map(Json::textMap)
        .orElse(Map.of())
        .forEach((name, text) -> data.places.put(MOUNTS + "." + name, DataPlace.of(text)));
    for (String key : List.of(OUTPUTS, HOME)) {
      config.text(key).ifPresent(text -> data.places.put(key, DataPlace.of(text)));
    }
    return data;
  }

  /** What is mounted into nodes that are made for the session. */
  public GangRequest.Data mounted() {
    var volumes = new ArrayList<GangRequest.Volume>();
    places.forEach(
        (key, place) -> {
          if (place instanceof Volume volume) {
            volumes.add(
                new GangRequest.Volume(
                    key, volume.of(owner).claim(), mount(key), volume.isReadOnly()));
          }
        });
    Optional<String> home = Optional.ofNullable(places.get(HOME)).map(place -> path(HOME, place));
    return new GangRequest.Data(volumes, home);
  }

  /** Where runs write; empty: beside the workspace. */
  Optional<NodeFolder> outputs(Capabilities backend) {
    return Optional.ofNullable(places.get(OUTPUTS))
        .filter(place -> place instanceof DataPlace.Folder || backend.mountsVolumes())
        .map(place -> new NodeFolder(path(OUTPUTS, place)));
  }

  /** What programs on a node find. */
  List<DataFolder> folders() {
    var folders = new ArrayList<DataFolder>();
    places.forEach(
        (key, place) -> {
          Optional<String> volume =
              place instanceof Volume found
                  ? Optional.of(found.of(owner).text())
                  : Optional.empty();
          Optional<String> variable = variable(key);
          if (!key.equals(HOME) && (volume.isPresent() || variable.isPresent())) {
            folders.add(
                new DataFolder(
                    key, path(key, place), volume, volume.map(_ -> mount(key)), variable));
          }
        });
    return folders;
  }

  /** {@code GPUSH_DATA} of {@code mounts.data}. */
  private static Optional<String> variable(String key) {
    return key.startsWith(MOUNTS)
        ? Optional.of("GPUSH_" + name(key).toUpperCase(Locale.ROOT))
        : Optional.empty();
  }

  private String path(String key, DataPlace place) {
    return switch (place) {
      case DataPlace.Folder(var folder) -> folder.text();
      case Volume volume -> mount(key) + volume.of(owner).folder();
    };
  }

  private static String mount(String key) {
    return ROOT + name(key);
  }

  private static String name(String key) {
    return key.substring(key.indexOf('.') + 1);
  }
}
