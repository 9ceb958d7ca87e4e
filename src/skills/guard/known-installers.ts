// Hosts of vendors whose documented installation is a script from the network. Running it is a question, not an attack.

const HOSTS = new Set(
  (
    "astral.sh rustup.rs nodesource.com docker.com bun.sh bun.com deno.land deno.com githubusercontent.com github.com gitlab.com " +
    "python-poetry.org ollama.com ollama.ai linkerd.io fly.io helm.sh brew.sh pnpm.io sdkman.io starship.rs tailscale.com k3s.io " +
    "k0s.sh istio.io sentry.io vercel.com vercel.app supabase.com google.com googleapis.com google microsoft.com aka.ms dot.net " +
    "netlify.com railway.app railway.com render.com paradigm.xyz solana.com anza.xyz mise.run jdx.dev nixos.org determinate.systems " +
    "getcomposer.org volta.sh claude.ai anthropic.com openai.com cursor.com opencode.ai grafana.com datadoghq.com newrelic.com " +
    "influxdata.com clickhouse.com duckdb.org pi-hole.net dagger.io pulumi.com hashicorp.com terraform.io sigstore.dev buf.build " +
    "earthly.dev temporal.io temporal.download zed.dev warp.dev modal.com replicate.com huggingface.co hf.co coder.com flutter.dev " +
    "julialang.org haskell.org ocaml.org lean-lang.org rvm.io moonrepo.dev atuin.sh just.systems chezmoi.io inference.sh quarto.org " +
    "posit.co nousresearch.com aws.amazon.com cloudflare.com elastic.co mongodb.com planetscale.com neon.tech turso.tech ngrok.com " +
    "pypa.io conda.io anaconda.com micro.mamba.pm pixi.sh rclone.org syncthing.net wasmtime.dev wasmer.io fermyon.com spin.dev " +
    "fluxcd.io argoproj.io cilium.io kubernetes.io k8s.io minikube.sigs.k8s.io openfaas.com doppler.com infisical.com 1password.com " +
    "apollo.dev hasura.io prisma.io sst.dev convex.dev encore.dev dapr.io oh-my-zsh.dev zsh.sh stripe.com shopify.dev expo.dev " +
    "qwen.ai aliyun.com moonshot.ai kimi.com x.ai factory.ai ampcode.com kiro.dev"
  ).split(" "),
);

/** True when every address in the text belongs to such a vendor; false without an address or over plain HTTP. */
export function isVendorInstaller(text: string): boolean {
  const hosts = [...text.matchAll(/\bhttps?:\/\/([\w.-]+)/gi)].map(([url, host = ""]) => ({
    secure: url.toLowerCase().startsWith("https"),
    host: host.toLowerCase().replace(/\.$/, ""),
  }));
  if (hosts.length === 0) return false;
  return hosts.every(({ secure, host }) => secure && isKnown(host));
}

function isKnown(host: string): boolean {
  // Anyone can publish a gist.
  if (host.startsWith("gist.")) return false;
  const parts = host.split(".");
  return parts.some((_, index) => HOSTS.has(parts.slice(index).join(".")));
}
