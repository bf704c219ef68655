// What the extension open-remote-ssh does with a host, with its own setup script: the method none first, the script
// encoded in one command, its answer between two marks, and VS Code's server reached through the connection, by its port
// and by its socket. The server that the script downloads comes from this program, through a forwarded port.
//   open_remote_ssh.js PORT USER KEY FOLDER_OF_SSH2 SCRIPT NODE SERVER FOLDER
//   SCRIPT  src/scripts/server-setup.sh of the extension
//   NODE    a Node.js of the host, for SERVER: the folder of VS Code's server there
//   FOLDER  an empty one of the host
// Prints "all" at the end; anything else is a failure.
const assert = require('assert');
const { execFileSync } = require('child_process');
const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const os = require('os');
const path = require('path');
const [port, user, key, modules, script, node, server, folder] = process.argv.slice(2);
const { Client } = require(modules + '/ssh2');

const COMMIT = JSON.parse(fs.readFileSync(path.join(server, 'product.json'))).commit;
const APPLICATION = 'code-oss-server';

const later = (call) => new Promise((resolve, reject) => call((error, value) => error ? reject(error) : resolve(value)));

function connected() {
  return new Promise((resolve, reject) => {
    const client = new Client();
    const tried = [];
    client.on('ready', () => resolve({ client, tried })).on('error', reject);
    client.connect({ host: '127.0.0.1', port: +port, username: user, readyTimeout: 60_000, strictVendor: false,
      authHandler: (left, _, next) => {
        tried.push(left);
        next(left === null ? { type: 'none', username: user }
          : { type: 'publickey', username: user, key: fs.readFileSync(key) });
      } });
  });
}

// As the extension does it: what was said by the time the channel is closed.
async function exec(client, command) {
  const stream = await later((done) => client.exec(command, {}, done));
  let stdout = '', stderr = '';
  stream.on('data', (data) => { stdout += data; });
  stream.stderr.on('data', (data) => { stderr += data; });
  await new Promise((resolve) => stream.on('close', resolve));
  return { stdout, stderr };
}

// A server in an archive as the script wants it, small: what it starts lies on the host. The script looks for a process of
// this name, so the shell stays.
const START = `#!/bin/sh
"${node}" "${server}/out/server-main.js" "$@" &
trap 'kill $!' TERM
wait
`;

function archive() {
  const base = fs.mkdtempSync(path.join(os.tmpdir(), 'open-remote-ssh-'));
  const bin = path.join(base, 'server', 'bin');
  fs.mkdirSync(bin, { recursive: true });
  fs.writeFileSync(path.join(bin, APPLICATION), START, { mode: 0o755 });
  const packed = execFileSync('tar', ['-cz', '-C', base, 'server']);
  fs.rmSync(base, { recursive: true });
  return packed;
}

// The host's loopback leads to this archive; resolves to the port there, and counts downloads.
async function offered(client) {
  const packed = archive();
  const asked = [];
  const site = http.createServer((request, response) => {
    asked.push(request.url);
    response.end(packed);
  });
  client.on('tcp connection', (_, accept) => site.emit('connection', accept()));
  return { there: await later((done) => client.forwardIn('127.0.0.1', 0, done)), asked };
}

function setup(there, listen, place, token) {
  const id = crypto.randomBytes(12).toString('hex');
  const values = {
    DISTRO_VERSION: '1.0.0', DISTRO_COMMIT: COMMIT, DISTRO_QUALITY: 'stable', DISTRO_VSCODIUM_RELEASE: '',
    SERVER_APP_NAME: APPLICATION, SERVER_INITIAL_EXTENSIONS: '', SERVER_LISTEN_FLAG: listen,
    SERVER_DATA_DIR: place, SERVER_DATA_DIR_FLAG: '--server-data-dir="$SERVER_DATA_DIR"', SERVER_VALIDATION_FLAG: '',
    SERVER_DOWNLOAD_URL_TEMPLATE: `http://127.0.0.1:${there}/\\\${os}-\\\${arch}-\\\${commit}.tar.gz`, SCRIPT_ID: id,
    ENV_VAR_LINES: '  echo "HOME==$HOME=="', MODIFY_PRODUCT_JSON: 'false', SERVER_CONNECTION_TOKEN: token,
  };
  const text = fs.readFileSync(script, 'utf8').replace(/%%([A-Z_]+)%%/g, (_, name) => {
    assert.ok(name in values, `the script wants ${name}`);
    return values[name];
  });
  return { id, command: `echo ${Buffer.from(text).toString('base64')} | base64 -d | bash -l` };
}

async function installed(client, there, listen, place, token) {
  const { id, command } = setup(there, listen, place, token);
  const { stdout, stderr } = await exec(client, command);
  const block = stdout.match(new RegExp(`${id}: start\\r?\\n([\\s\\S]*)${id}: end`));
  assert.ok(block, `no marks in: ${stdout}${stderr}`);
  const answer = Object.fromEntries(block[1].split(/\r?\n/).map((line) => line.split('==')));
  assert.strictEqual(answer.exitCode, '0', stdout + stderr);
  assert.strictEqual(answer.platform, 'linux');
  return answer;
}

// The server answers with its commit, and opens a websocket for those who know the token.
async function answers(open, token) {
  const commit = await asked(await open(), '/version', {});
  assert.deepStrictEqual([commit.status, commit.body], [200, COMMIT]);
  const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': crypto.randomBytes(16).toString('base64') };
  const query = `?reconnectionToken=${crypto.randomUUID()}&reconnection=false&skipWebSocketFrames=false&tkn=`;
  assert.strictEqual((await asked(await open(), '/' + query + token, upgrade)).status, 101);
}

function asked(stream, url, headers) {
  return new Promise((resolve, reject) => {
    const request = http.get({ createConnection: () => stream, path: url, headers: { Host: 'localhost', ...headers } });
    request.on('error', reject);
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode });
    });
    request.on('response', (response) => {
      let body = '';
      response.on('data', (data) => { body += data; }).on('end', () => resolve({ status: response.statusCode, body }));
    });
  });
}

async function main() {
  const { client, tried } = await connected();
  assert.deepStrictEqual(tried, [null, ['publickey']]);
  const { there, asked: downloads } = await offered(client);
  const kinds = {
    port: { listen: '--port=0',
      open: (at) => () => later((done) => client.forwardOut('127.0.0.1', 0, '127.0.0.1', +at, done)) },
    socket: { listen: `--socket-path="${folder}/s"`,
      open: (at) => () => later((done) => client.openssh_forwardOutStreamLocal(at, done)) },
  };
  for (const [kind, { listen, open }] of Object.entries(kinds)) {
    const place = `${folder}/${kind}`;
    const token = crypto.randomUUID();
    const first = await installed(client, there, listen, place, token);
    assert.match(first.listeningOn, kind === 'port' ? /^\d+$/ : /^\/.*\/s$/);
    assert.strictEqual(first.connectionToken, token);
    await answers(open(first.listeningOn), token);
    // Another window finds the server that runs.
    const again = await installed(client, there, listen, place, crypto.randomUUID());
    assert.deepStrictEqual([again.listeningOn, again.connectionToken], [first.listeningOn, token]);
    const { stdout } = await exec(client, `kill "$(cat ${place}/.${COMMIT}.pid)" && echo ended`);
    assert.strictEqual(stdout, 'ended\n');
  }
  assert.strictEqual(downloads.length, 2);
  client.end();
  console.log('all');
}

main().catch((error) => { console.error(error); process.exit(1); });
