package dev.gpush.shell.page;

/** Why a request of a browser is not answered. Its sentence is shown as it is. */
enum PageRefusal {
  MALFORMED(400, "This is no request of the page of gpush."),
  NO_LOGIN(
      403,
      "This browser is not logged in, or the gateway was started again since."
          + " Sessions and runs go on. Type gpush gateway page and open the address that it prints."),
  USED_TOKEN(
      403,
      "This address was opened before, or is older than ten minutes: each works once."
          + " Type gpush gateway page and open the address that it prints."),
  OTHER_HOST(403, "gpush answers under 127.0.0.1 and localhost only, at the port that it printed."),
  OTHER_SITE(403, "Another site has sent this request; gpush answers its own page only."),
  NOT_ASKED(409, "This question is not open any more; gpush ps says how things are."),
  NOT_FOUND(404, "There is no such page. Type gpush gateway page and open what it prints."),
  WRONG_METHOD(405, "gpush does not answer this kind of request here."),
  TOO_LARGE(413, "This request is larger than any that the page of gpush sends."),
  TOO_MANY(503, "Too many pages of gpush are open, or too much is in progress. Close some.");

  private final int status;
  private final String sentence;

  PageRefusal(int status, String sentence) {
    this.status = status;
    this.sentence = sentence;
  }

  int status() {
    return status;
  }

  String sentence() {
    return sentence;
  }
}
