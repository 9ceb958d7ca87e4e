// Settings of display and voice: terminal, dashboard, speech.
import {
  accepted,
  anyOf,
  choice,
  decimal,
  flag,
  freeMap,
  type Json,
  list,
  named,
  section,
  text,
  unset,
  whole,
} from "./fields.ts";

const PROGRESS = ["off", "new", "all", "verbose"] as const;

const footer = {
  enabled: flag(false, "Add a footer to final replies"),
  fields: list(["model", "context_pct", "cwd"], "What the footer shows"),
} as const;

const display = section("The terminal and the format of replies", {
  compact: flag(false, "One-line banner"),
  personality: text("kawaii", "Persona of status texts; `none` for no faces"),
  resume_display: choice(["full", "minimal"], "full", "What is shown when a session is resumed"),
  busy_input_mode: choice(["interrupt", "queue", "steer"], "interrupt", "What a message does while the agent works"),
  tui_auto_resume_recent: accepted(flag(false, "Open the latest session at start; here: `hermes -c`")),
  bell_on_complete: flag(false, "Ring the terminal bell at the end of a turn"),
  show_reasoning: flag(false, "Show the model's thinking"),
  streaming: flag(false, "Show text as it arrives also where the output is no terminal"),
  timestamps: flag(false, "Show the time beside messages"),
  final_response_markdown: choice(
    ["render", "strip", "raw"],
    "render",
    "Markdown in answers: drawn with styles, drawn without, or shown as written",
  ),
  persistent_output: accepted(
    flag(true, "Show earlier output again after a redraw; here the terminal keeps all of it"),
  ),
  persistent_output_max_lines: accepted(whole(200, "Lines shown again; see persistent_output")),
  inline_diffs: flag(true, "Show what changed after a write"),
  file_mutation_verifier: flag(true, "List writes that failed below the answer"),
  show_cost: flag(true, "Show the cost in the status bar"),
  skin: text("default", "Colours: a built-in skin, or a file in skins/ of the home"),
  language: choice(["en", "zh", "ja", "de", "es", "fr", "tr", "uk"], "en", "Language of fixed texts"),
  tui_status_indicator: choice(["kaomoji", "emoji", "unicode", "ascii"], "kaomoji", "Style of the busy indicator"),
  user_message_preview: section("How much of a long prompt is echoed", {
    first_lines: whole(2, "Lines from the beginning"),
    last_lines: whole(2, "Lines from the end"),
  }),
  interim_assistant_messages: flag(true, "Send what the agent says between tool calls to chats"),
  tool_progress: choice(PROGRESS, "all", "Which tool calls are shown"),
  tool_progress_command: flag(false, "Offer /verbose in chats"),
  tool_progress_overrides: freeMap("Older form of platforms.<name>.tool_progress"),
  tool_preview_length: whole(0, "Characters of a tool preview; 0 no limit"),
  cleanup_progress: flag(false, "Delete progress messages at the end of a turn"),
  busy_ack_enabled: flag(true, "Confirm messages that arrive while the agent works"),
  background_process_notifications: choice(
    ["off", "result", "error", "all"],
    "all",
    "Notices about background commands",
  ),
  ephemeral_system_ttl: accepted(whole(0, "Seconds before notices are deleted again; 0 never")),
  platforms: named(
    "Other values by platform",
    section("Values of one platform", {
      tool_progress: unset(choice(PROGRESS, "all", "As display.tool_progress")),
      show_reasoning: unset(flag(false, "As display.show_reasoning")),
      tool_preview_length: accepted(unset(whole(0, "As display.tool_preview_length"))),
      streaming: unset(flag(false, "Show text as it arrives")),
      cleanup_progress: unset(flag(false, "As display.cleanup_progress")),
      runtime_footer: unset(
        anyOf<boolean | { readonly [key: string]: Json }>(["true/false", "map"], false, "As display.runtime_footer"),
      ),
    }),
  ),
  runtime_footer: section("Footer of replies in chats", footer),
  copy_shortcut: accepted(
    choice(
      ["auto", "ctrl_c", "ctrl_shift_c", "disabled"],
      "auto",
      "Key that copies; here the terminal's own selection works, and /copy",
    ),
  ),
  details_mode: choice(
    ["hidden", "collapsed", "expanded"],
    "collapsed",
    "Thinking, tool output and subagents in the terminal: left out, in one line, or whole",
  ),
  sections: freeMap("details_mode by section: thinking, tools, subagents, activity"),
  mouse_tracking: accepted(flag(true, "Use the mouse in the terminal; here it always belongs to the terminal")),
  tui_mouse: accepted(unset(flag(true, "Same as mouse_tracking, from older files"))),
  tui_compact: flag(false, "Less empty space"),
  tui_statusbar: anyOf<string | boolean>(
    ["text", "true/false"],
    "top",
    "Place of the status bar, relative to the input: top, bottom or off",
  ),
  thinking_mode: unset(text("", "How thinking is drawn: collapsed, truncated or full")),
});

const tts = section("Speaking", {
  provider: choice(
    ["edge", "elevenlabs", "openai", "xai", "minimax", "mistral", "gemini", "neutts", "kittentts", "piper"],
    "edge",
    "Voice service",
  ),
  use_gateway: accepted(flag(false, "Use the tool gateway")),
  edge: accepted(section("Edge", { voice: text("en-US-AriaNeural", "Voice") })),
  elevenlabs: accepted(
    section("ElevenLabs", {
      voice_id: text("pNInz6obpgDQGcFmaJgB", "Voice"),
      model_id: text("eleven_multilingual_v2", "Model"),
    }),
  ),
  openai: section("OpenAI", {
    model: text("gpt-4o-mini-tts", "Model"),
    voice: text("alloy", "Voice"),
    base_url: text("", "Another server with the same API"),
  }),
  xai: accepted(
    section("xAI", {
      voice_id: text("eve", "Voice"),
      language: text("en", "Language"),
      sample_rate: whole(24000, "Samples a second", { min: 1 }),
      bit_rate: whole(128000, "Bits a second", { min: 1 }),
    }),
  ),
  mistral: accepted(
    section("Mistral", {
      model: text("voxtral-mini-tts-2603", "Model"),
      voice_id: text("c69964a6-ab8b-4f8a-9465-ec0925096ec8", "Voice"),
    }),
  ),
  minimax: accepted(freeMap("MiniMax")),
  gemini: accepted(freeMap("Gemini")),
  kittentts: accepted(freeMap("KittenTTS")),
  neutts: accepted(
    section("NeuTTS", {
      ref_audio: text("", "Sample of the voice"),
      ref_text: text("", "What the sample says"),
      model: text("neuphonic/neutts-air-q4-gguf", "Model"),
      device: text("cpu", "Device"),
    }),
  ),
  piper: accepted(section("Piper", { voice: text("en_US-lessac-medium", "Voice") })),
});

const stt = section("Understanding speech", {
  enabled: flag(true, "Transcribe voice messages"),
  provider: choice(["local", "groq", "openai", "mistral"], "local", "Service"),
  model: accepted(unset(text("", "Older key for the model of the chosen service"))),
  local: section("On this machine", {
    model: text("base", "Whisper size"),
    language: text("", "Language; empty to detect it"),
  }),
  groq: freeMap("Groq"),
  openai: section("OpenAI", {
    model: text("whisper-1", "Model"),
    base_url: text("", "Another server with the same API"),
  }),
  mistral: section("Mistral", { model: text("voxtral-mini-latest", "Model") }),
});

export const displayKeys = {
  display,
  dashboard: accepted(
    section("The dashboard in the browser", {
      theme: text("default", "Colours"),
      show_token_analytics: flag(false, "Show tokens and cost"),
      hidden_plugins: list([], "Plugins left out of the sidebar"),
    }),
  ),
  tts,
  stt,
  voice: accepted(
    section("Voice mode of the terminal", {
      record_key: text("ctrl+b", "Key that starts recording"),
      max_recording_seconds: whole(120, "Longest recording in seconds", { min: 1 }),
      auto_tts: flag(false, "Speak the answers"),
      beep_enabled: flag(true, "Beep when recording starts and ends"),
      silence_threshold: whole(200, "Loudness (RMS) below which input counts as silence"),
      silence_duration: decimal(3, "Seconds of silence that end a recording"),
    }),
  ),
  human_delay: accepted(
    section("Delay before a reply", {
      mode: choice(["off", "natural", "custom"], "off", "How to wait"),
      min_ms: whole(800, "Shortest wait in milliseconds"),
      max_ms: whole(2500, "Longest wait in milliseconds"),
    }),
  ),
  timezone: text("", "IANA time zone; empty for that of the machine"),
  onboarding: section("Hints for newcomers", { seen: freeMap("Hints already shown; kept by the program") }),
} as const;
