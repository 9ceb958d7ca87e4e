// Character references of HTML: numbers in both bases, and the names that pages use.

/** Latin-1 in order of its code points, from no-break space on. */
const LATIN =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

const OTHERS =
  "amp=& lt=< gt=> quot=\" apos=' OElig=Œ oelig=œ Scaron=Š scaron=š Yuml=Ÿ fnof=ƒ circ=ˆ tilde=˜ Alpha=Α Beta=Β Gamma=Γ Delta=Δ Epsilon=Ε Zeta=Ζ Eta=Η Theta=Θ Iota=Ι Kappa=Κ Lambda=Λ Mu=Μ Nu=Ν Xi=Ξ Omicron=Ο Pi=Π Rho=Ρ Sigma=Σ Tau=Τ Upsilon=Υ Phi=Φ Chi=Χ Psi=Ψ Omega=Ω alpha=α beta=β gamma=γ delta=δ epsilon=ε zeta=ζ eta=η theta=θ iota=ι kappa=κ lambda=λ mu=μ nu=ν xi=ξ omicron=ο pi=π rho=ρ sigmaf=ς sigma=σ tau=τ upsilon=υ phi=φ chi=χ psi=ψ omega=ω ensp=\u2002 emsp=\u2003 thinsp=\u2009 zwnj=\u200c zwj=\u200d lrm=\u200e rlm=\u200f ndash=– mdash=— horbar=― lsquo=‘ rsquo=’ sbquo=‚ ldquo=“ rdquo=” bdquo=„ dagger=† Dagger=‡ bull=• hellip=… permil=‰ prime=′ Prime=″ lsaquo=‹ rsaquo=› oline=‾ frasl=⁄ euro=€ image=ℑ weierp=℘ real=ℜ trade=™ alefsym=ℵ larr=← uarr=↑ rarr=→ darr=↓ harr=↔ crarr=↵ lArr=⇐ uArr=⇑ rArr=⇒ dArr=⇓ hArr=⇔ forall=∀ part=∂ exist=∃ empty=∅ nabla=∇ isin=∈ notin=∉ ni=∋ prod=∏ sum=∑ minus=− lowast=∗ radic=√ prop=∝ infin=∞ ang=∠ and=∧ or=∨ cap=∩ cup=∪ int=∫ there4=∴ sim=∼ cong=≅ asymp=≈ ne=≠ equiv=≡ le=≤ ge=≥ sub=⊂ sup=⊃ nsub=⊄ sube=⊆ supe=⊇ oplus=⊕ otimes=⊗ perp=⊥ sdot=⋅ lceil=⌈ rceil=⌉ lfloor=⌊ rfloor=⌋ lang=⟨ rang=⟩ loz=◊ spades=♠ clubs=♣ hearts=♥ diams=♦ check=✓ cross=✗ star=☆ starf=★ phone=☎ num=# excl=! dollar=$ percnt=% lpar=( rpar=) ast=* plus=+ comma=, period=. sol=/ colon=: semi=; equals== quest=? commat=@ lsqb=[ lbrack=[ bsol=\\ rsqb=] rbrack=] lowbar=_ grave=` lcub={ lbrace={ verbar=| vert=| rcub=} rbrace=} hyphen=‐ dash=‐ nbhy=‑ Tab=\t NewLine=\n ZeroWidthSpace=\u200b NoBreak=\u2060 rightarrow=→ leftarrow=← lbbrk=❲ rbbrk=❳ half=½ copysr=℗ numsp=\u2007 puncsp=\u2008 hairsp=\u200a";

const NAMES = new Map<string, string>();
for (const [index, name] of LATIN.split(" ").entries()) NAMES.set(name, String.fromCharCode(160 + index));
for (const pair of OTHERS.split(" ")) {
  const cut = pair.indexOf("=");
  NAMES.set(pair.slice(0, cut), pair.slice(cut + 1));
}

/** Numbers 128–159 mean the characters of Windows-1252, as in every browser. */
const WINDOWS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** Puts the characters of Windows-1252 where a decoder left control codes. */
export function withWindowsCharacters(text: string): string {
  return text.replace(/[\u0080-\u009f]/g, (code) => WINDOWS[code.charCodeAt(0) - 128] ?? code);
}

function fromNumber(code: number): string {
  if (code >= 128 && code <= 159) return WINDOWS[code - 128] ?? "\ufffd";
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return "\ufffd";
  return String.fromCodePoint(code);
}

/** Replaces references; what is none stays as it is. Names want their semicolon, except the oldest ones. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:#(\d{1,8})|#[xX]([0-9a-fA-F]{1,7})|([A-Za-z][A-Za-z0-9]{1,30}));?/g,
    (whole, decimal: string | undefined, hex: string | undefined, name: string | undefined) => {
      if (decimal !== undefined) return fromNumber(Number(decimal));
      if (hex !== undefined) return fromNumber(Number.parseInt(hex, 16));
      if (!whole.endsWith(";") && !/^(?:amp|lt|gt|quot|nbsp|copy|reg)$/.test(name ?? "")) return whole;
      return NAMES.get(name ?? "") ?? whole;
    },
  );
}
