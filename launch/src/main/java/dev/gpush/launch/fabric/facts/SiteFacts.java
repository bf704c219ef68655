package dev.gpush.launch.fabric.facts;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a node's files and environment already set.
 *
 * @param confs files of NCCL's own, the one that counts first
 * @param image what the container's image or the machine sets for every process
 * @param session what the session's shells get beyond that
 * @param scripts what scripts of the provider set, by path
 */
public record SiteFacts(
    List<Conf> confs,
    Map<String, String> image,
    Map<String, String> session,
    Map<String, Map<String, String>> scripts) {
  public SiteFacts {
    confs = List.copyOf(confs);
    image = Map.copyOf(image);
    session = Map.copyOf(session);
    scripts = Map.copyOf(scripts);
  }

  /** One such file. */
  public record Conf(String path, Map<String, String> variables, List<String> mistakes) {
    public Conf {
      variables = Map.copyOf(variables);
      mistakes = List.copyOf(mistakes);
    }
  }

  static SiteFacts read(FactReader json) {
    var confs = new ArrayList<Conf>();
    for (FactReader conf : json.objects("conf")) {
      confs.add(
          new Conf(conf.word("path"), conf.object("variables").textMap(), conf.texts("mistakes")));
    }
    FactReader environment = json.object("environment");
    var scripts = new LinkedHashMap<String, Map<String, String>>();
    for (FactReader script : json.objects("scripts")) {
      scripts.put(script.word("path"), script.object("variables").textMap());
    }
    return new SiteFacts(
        confs,
        environment.object("image").textMap(),
        environment.object("session").textMap(),
        scripts);
  }
}
