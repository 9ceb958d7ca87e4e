// Recognises a lasting change that only repeats what the user wrote and asked for.

/** Words with which users ask for something lasting, in the languages of the locales. */
const REQUEST =
  /\b(?:remember|memori[sz]e|don'?t forget|do not forget|note (?:down|that|to)|make a note|take note|keep in mind|save|store|add to (?:your )?(?:memory|notes)|remind|reminder|schedule|every (?:day|week|month|hour|morning|evening|night|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d+)|daily|weekly|hourly|monthly|each (?:day|week|morning|evening)|tomorrow|from now on|always|in future|going forward|forget|update your memory)\b|\b(?:merke?|erinner\w*|notiere?|vergiss|speicher\w*|täglich|jeden|jede|wöchentlich)\b|\b(?:recuerda\w*|recuérda\w*|anota|guarda|cada día|diariamente|rappelle\w*|souviens|note que|chaque|retiens|ricorda\w*|segna|ogni|lembr\w*|anote|cada)\b|запомни|напомни|запиши|каждый|пам'ятай|нагадай|hatırla|unutma|not al|her gün|記憶|覚え|思い出|毎|记住|記住|提醒|每天|每周|기억|알려|매일|uthoud|herinner|onthoud|elke dag/iu;

/** Words that change no meaning. Not here: negations and words such as always, only, never. */
const FILLERS = new Set(
  `a an the is are was were be been am do does did has have had of to in on at by for from with as and that this these
   those it its he she they them their his her him i me my mine you your we our us user users s t re ve ll d m
   name called named who which when then there here about so also please can could would should will shall
   der die das ein eine ist sind hat und dass ich mein meine nutzer benutzer el la los las un una es y que mi
   usuario le les des est et que mon ma utilisateur il lo gli è e mio mia utente o os um uma é meu minha usuário`
    .trim()
    .split(/\s+/),
);

/** Requests themselves: the stored text often starts with one of them. */
const VERBS = new Set(
  "remind reminder remember note tell send say message notify prefer prefers like likes want wants".split(" "),
);

function words(text: string): string[] {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** True for two forms of one word: `deploy` and `deployments`. Numbers must be equal. */
function isSameWord(a: string, b: string): boolean {
  if (a === b) return true;
  if (/\d/.test(a) || /\d/.test(b)) return false;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length < 4 || long.length - short.length > 5) return long === `${short}s`;
  const stem = short.replace(/(?:es|ed|e|y|s)$/, "");
  return stem.length >= 3 && long.startsWith(stem);
}

/** Addresses, paths and the like must appear as the user wrote them. */
function hasForeignAddress(text: string, own: string): boolean {
  const addresses = text.match(/[\p{L}\p{N}_-]+(?:[./:@][\p{L}\p{N}_~?=&%#-]+)+/gu) ?? [];
  return addresses.some((address) => !own.includes(address.toLowerCase()));
}

/**
 * True when the user's newest message asks for something lasting and every word of `text` is the user's. The texts are
 * the user's own messages, newest last.
 */
export function isUsersOwnText(text: string, userTexts: readonly string[]): boolean {
  const newest = userTexts.at(-1) ?? "";
  if (!REQUEST.test(newest)) return false;
  const own = userTexts.join("\n").normalize("NFKC").toLowerCase();
  if (hasForeignAddress(text, own)) return false;
  const known = [...new Set(words(own))];
  const stored = words(text);
  if (stored.length === 0) return false;
  return stored.every(
    (word) => FILLERS.has(word) || VERBS.has(word) || known.some((candidate) => isSameWord(candidate, word)),
  );
}
