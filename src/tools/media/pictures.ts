// Whether a model accepts pictures, and descriptions of pictures for models that do not.
import type { Config } from "../../core/config/config.ts";
import type { Pictures } from "../../core/conversation.ts";
import type { ModelIdentity, SideModel } from "../../core/model/provider.ts";

const TOKENS = 2_000;

/** Model families that accept text only. Others get the picture; when they refuse it, it is left out. */
const TEXT_ONLY = [
  /deepseek/,
  /gpt-3\.5|gpt-oss|o1-mini|o3-mini/,
  /kimi-k2(?!\.[5-9])/,
  /glm-(?:4\.\d|5)(?!\d*v)/,
  /minimax-m[12]/,
  /qwen(?!.*(?:vl|omni|3\.[5-9]|vision))/,
  /llama-?3(?!.*vision)/,
  /(?:mixtral|codestral|devstral|mistral-(?:7b|nemo|large))/,
  /(?:hermes-[34]|phi-?[34](?!.*vision)|command-[ra]|starcoder|codellama)/,
];
const ACCEPTS_PICTURES = /vision|-vl\b|pixtral|llava|moondream|omni/;

export function seesPictures({ model, transport }: ModelIdentity): boolean {
  const name = model.toLowerCase();
  if (transport === "offline") return false;
  return ACCEPTS_PICTURES.test(name) || !TEXT_ONLY.some((family) => family.test(name));
}

/** `auto`: a configured vision model describes the picture; otherwise the model gets it, if it accepts pictures. */
export function picturesFor(config: Config, identity: ModelIdentity, side: SideModel): Pictures {
  const { provider, model, base_url: baseUrl } = config.auxiliary.vision;
  const named = (provider !== "auto" && provider !== "") || model !== "" || baseUrl !== "";
  const mode = config.agent.image_input_mode;
  return {
    native: mode === "native" || (mode === "auto" && !named && seesPictures(identity)),
    describe: async (url, signal) => {
      const prompt =
        "Describe this picture for someone who cannot see it: what it shows, every text in it word for word, and details that matter.";
      const request = { task: "vision", prompt, images: [url], maxOutputTokens: TOKENS, temperature: 0.1 };
      const answer = await side.ask(request, signal);
      return answer.ok ? { ok: true, text: answer.text } : { ok: false, reason: answer.failure.message };
    },
  };
}
