/**
 * Connection to an API server: kubeconfig, or the pod's service account, and two shared HTTP/1.1 agents, one for
 * watches and one for other requests. The library alone opens a TLS connection per request. Watches hang over a shared
 * HTTP/2 session.
 */
import { existsSync, readFileSync } from 'node:fs';
import { KubeConfig, type Cluster } from '@kubernetes/client-node';
import { Agent, type Dispatcher } from 'undici';

export interface Connection {
  /** Name of this process for the API server: in the User-Agent, and as manager of the fields that it writes. */
  readonly client: string;
  /** Base URL, such as https://10.96.0.1:443. */
  readonly server: string;
  /** Namespace of the kubeconfig's context, or of the pod. */
  readonly namespace: string;
  readonly unary: Authenticator;
  readonly watch: Authenticator;
  close(): Promise<void>;
}

/** KubeConfig that authenticates requests and sends them by its shared agent. */
export type Authenticator = Pick<KubeConfig, 'applySecurityAuthentication'>;

const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
const CONNECT_MS = 10_000;
const HEADERS_MS = 30_000;
const TCP_PROBE_MS = 30_000;

/**
 * Connects by the kubeconfig file, or without one by the service account of this pod, as the client with the name.
 * @throws Error when there is neither.
 */
export function connect(kubeconfigFile: string | null, client = 'mediajobs'): Connection {
  const configs = [loadConfig(kubeconfigFile), loadConfig(kubeconfigFile)] as const;
  const cluster = configs[0].getCurrentCluster();
  if (cluster === null) throw new Error(noCluster(kubeconfigFile));
  const [unaryAgents, watchAgents] = [makeAgents(30_000), makeAgents(0)] as const;
  const [unary, watch] = [share(configs[0], unaryAgents), share(configs[1], watchAgents)] as const;
  return {
    client,
    server: cluster.server.replace(/\/$/, ''),
    namespace: namespaceOf(configs[0], kubeconfigFile),
    unary,
    watch,
    close: async () => void (await Promise.all([unaryAgents.close(), watchAgents.close()])),
  };
}

function loadConfig(file: string | null): KubeConfig {
  const config = new KubeConfig();
  if (file !== null) config.loadFromFile(file);
  else if (!existsSync(NAMESPACE_FILE)) throw new Error(noCluster(file));
  else config.loadFromCluster();
  return config;
}

function noCluster(file: string | null): string {
  return file === null
    ? 'This process does not run in a Kubernetes pod. Set KUBECONFIG to a kubeconfig file.'
    : `The kubeconfig ${file} names no current cluster: set current-context in it.`;
}

function namespaceOf(config: KubeConfig, file: string | null): string {
  if (file === null) return readFileSync(NAMESPACE_FILE, 'utf8').trim();
  return config.getContextObject(config.getCurrentContext())?.namespace ?? 'default';
}

interface Agents {
  /** Returns the agent for the credentials. Creates a new one when they have changed, as after a rotation. */
  get(options: AgentOptions): Dispatcher;
  close(): Promise<unknown>;
}

interface AgentOptions {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly rejectUnauthorized?: boolean;
  readonly servername?: string;
}

function makeAgents(bodyTimeout: number): Agents {
  let current: { readonly key: string; readonly agent: Agent } | null = null;
  return {
    get(options) {
      const key = JSON.stringify(options);
      if (current?.key === key) return current.agent;
      void current?.agent.close();
      const connect = { ...options, timeout: CONNECT_MS, keepAlive: true, keepAliveInitialDelay: TCP_PROBE_MS };
      const agent = new Agent({ connect, allowH2: false, headersTimeout: HEADERS_MS, bodyTimeout });
      current = { key, agent };
      return agent;
    },
    close: async () => current?.agent.destroy(),
  };
}

/** Private method by which the library creates an agent for every request. */
interface DispatcherMaker {
  createDispatcher(cluster: Cluster | null, options: AgentOptions): Dispatcher | undefined;
}

/** Replaces the library's dispatchers by the shared agents. With a proxy, one dispatcher per KubeConfig is reused. */
function share(config: KubeConfig, agents: Agents): Authenticator {
  const maker = config as unknown as DispatcherMaker;
  const original = maker.createDispatcher.bind(config);
  let proxied: Dispatcher | undefined;
  maker.createDispatcher = (cluster, options) => {
    if (cluster?.proxyUrl === undefined) return agents.get(options);
    proxied ??= original(cluster, options);
    return proxied;
  };
  return config;
}
