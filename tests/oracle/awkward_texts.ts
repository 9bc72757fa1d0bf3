/** Texts at which tokenizers differ, by hand and at random. */

/** One of each kind that has made tokenizers differ. */
export const AWKWARD_TEXTS: Readonly<Record<string, string>> = {
  "contractions": "I'LL we've SHE'D don't 'tis rock'n'roll",
  "blanks": "  two   three\u00a0no-break\u3000wide \t tab \n\n\n lines \r\n end  ",
  "numbers": "1234567890 3.14159 1,000,000 ०१२३ ٣٤٥ Ⅷ ½ x² 0x1F",
  "code": "for (let i=0;i<n;++i){\n\t\ta[i] += b->c[--k]; // done\n}",
  "Chinese, Japanese, Korean": "你好，世界。日本語のテキスト 한국어 문장",
  "right to left": "שלום עולם مرحبا بالعالم ‏abc‎",
  "Indic and Thai": "नमस्ते दुनिया தமிழ் ภาษาไทย",
  "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇨🇭 ☃️",
  "special tokens in a text":
    "<|im_start|>user\nhi<|im_end|>\n<think>\n</think><|endoftext|><|im_sta",
  "zero width": "a\u200bb\u200dc\ufeffd\u00ade",
  "control characters": "\u0000\u0001\u001b[0m\u007f\u0085",
  "private use, unassigned": "\ue000 \u{10ffff} \u0378",
  "letters beyond the first plane": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈 𠮷",
  "punctuation": "...!!!???---___«»“”‘’…¿¡//\\\\##",
  "composed accents": "café naïve Ångström",
  "accents apart": "cafe\u0301 nai\u0308ve A\u030angstro\u0308m",
  "jamo": "\u1112\u1161\u11ab\u1100\u116e\u11a8",
  "marks alone": "\u0301 \u0301\u0301 a\u0315\u0300\u05ae b",
};

/** Ranges of characters that random texts are made of. */
const RANGES: readonly (readonly [number, number])[] = [
  [0x20, 0x7e],
  [0x09, 0x0d],
  [0xa0, 0x24f],
  [0x300, 0x36f],
  [0x370, 0x52f],
  [0x5d0, 0x64a],
  [0x900, 0x97f],
  [0x2000, 0x206f],
  [0x3040, 0x30ff],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0x1f300, 0x1f64f],
];

/** Texts of up to 30 characters, most from one script, the same for each call. */
export function randomTexts(howMany: number): string[] {
  let state = 1;
  const below = (limit: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  return Array.from({ length: howMany }, () => {
    const script = below(RANGES.length);
    return Array.from({ length: 1 + below(30) }, () => {
      const [from, to] = RANGES[below(3) > 0 ? script : below(RANGES.length)]!;
      return String.fromCodePoint(from + below(to - from + 1));
    }).join("");
  });
}
