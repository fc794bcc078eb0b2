/** Credentials and histories that are found in the home directory of a person. */
const inHomes = [
  // keys and password stores
  '.ssh',
  '.gnupg',
  '.password-store',
  '.local/share/keyrings',
  '.config/op',
  '.config/sops',
  '.vault-token',
  // clouds and clusters
  '.aws',
  '.azure',
  '.config/gcloud',
  '.config/doctl',
  '.config/hcloud',
  '.config/rclone',
  '.oci',
  '.kube',
  '.docker/config.json',
  '.config/containers/auth.json',
  '.terraform.d/credentials*',
  // forges, registries and services that take a token
  '.config/gh',
  '.config/glab-cli',
  '.git-credentials',
  '.config/git/credentials',
  '.netrc',
  '.npmrc',
  '.yarnrc.yml',
  '.pypirc',
  '.gem/credentials',
  '.cargo/credentials*',
  '.m2/settings*.xml',
  '.config/huggingface',
  '.cache/huggingface/token',
  // coding agents
  '.claude/.credentials.json',
  '.codex/auth.json',
  // databases
  '.pgpass',
  '.my.cnf',
  // browsers keep sessions and passwords
  '.mozilla',
  '.config/google-chrome',
  '.config/chromium',
  // people type secrets at prompts
  '.bash_history',
  '.zsh_history',
  '.local/share/fish/fish_history',
  '.python_history',
  '.psql_history',
  '.mysql_history',
  '.sqlite_history',
  '.rediscli_history',
  '.node_repl_history',
  '.lesshst',
  '.viminfo',
]

const ofTheMachine = [
  '/etc/ssh/ssh_host_*',
  '/etc/shadow',
  '/etc/shadow-',
  '/etc/gshadow',
  '/etc/gshadow-',
  '/etc/ssl/private',
  '/etc/letsencrypt',
  '/etc/wireguard',
  '/etc/openvpn',
  '/etc/NetworkManager/system-connections',
  '/etc/kubernetes',
  '/var/lib/kubelet',
  '/var/lib/docker',
  '/var/lib/containers',
  '/var/lib/containerd',
  // the store of other users of this machine; the one in use is hidden by the backend
  '/var/lib/forkpoint',
]

/**
 * What an environment made from the host's own root does not get to see. `*` stays within one path
 * component; a directory hides everything below it.
 */
export const defaultMask: readonly string[] = [
  ...ofTheMachine,
  ...inHomes.flatMap((path) => [`/root/${path}`, `/home/*/${path}`]),
]
