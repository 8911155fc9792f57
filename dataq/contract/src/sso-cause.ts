import type { Bilingual } from "./bilingual.ts";

/**
 * What went wrong in a single sign-on, for the operator, and what to do. The person who wanted to come in is told a reason
 * only: it says nothing of settings and keys.
 */
export const ssoCauses = {
  provider_away: row(
    "The provider does not describe itself: this machine cannot read /.well-known/openid-configuration below issuer, or it lacks issuer, jwks_uri or an endpoint. Check issuer in sso.json and the network.",
    "读不到平台的配置：本机无法读取 issuer 之下的 /.well-known/openid-configuration，或其中缺少 issuer、jwks_uri 或某个接口的地址。请检查 sso.json 的 issuer 和网络。",
  ),
  provider_refused: row(
    "The provider did not begin the sign-in. Check scopes, and what the provider allows this client.",
    "平台拒绝了登录请求。请检查 scopes，以及平台允许该客户端做什么。",
  ),
  code_refused: row(
    "The provider gave no tokens for its code. Check client_id, client_secret and client_authentication in sso.json, and that the address to return to is that of DATAQ_URL. A code that was made up or used twice is refused like this.",
    "平台没有用授权码换发令牌。请检查 sso.json 的 client_id、client_secret 和 client_authentication，以及回调地址是否与 DATAQ_URL 一致。伪造或重复使用的授权码也会这样被拒。",
  ),
  token_unverified: row(
    "The ID token is not one of the provider for this sign-in: its signature, issuer, client, time or nonce is wrong, or the provider's keys cannot be read. Check client_id and issuer, and that the clocks differ by 30 s at most.",
    "ID 令牌不是平台为这次登录签发的：签名、签发方、客户端、时间或 nonce 不符，或读不到平台的公钥。请检查 client_id 和 issuer，两边时钟相差不能超过 30 秒。",
  ),
  other_issuer: row(
    "The answer comes from another issuer than that of sso.json. Write issuer exactly as the provider does, with or without a slash at the end.",
    "应答的签发方与 sso.json 的 issuer 不同。issuer 须与平台写的完全一致，包括末尾有没有斜杠。",
  ),
  for_others: row(
    "The ID token is meant for another client, too (aud, azp). Let the provider issue tokens for this client alone.",
    "ID 令牌同时发给其他客户端（aud、azp）。请让平台只为本客户端签发令牌。",
  ),
  person_untold: row(
    "The provider did not tell who the person is: its userinfo endpoint did not answer, or about somebody else. See the provider's own log.",
    "平台没有说明此人是谁：userinfo 接口没有应答，或返回的是另一个人。请查看平台自己的日志。",
  ),
  no_mail: row(
    "The provider tells no mail address. Add the scope that brings it, usually email, to scopes.",
    "平台没有提供邮箱地址。请把相应的范围（通常是 email）加入 scopes。",
  ),
  no_claim: row(
    "The provider does not send the claim of operators.claim to this client. Check its name; if it comes with a scope of its own, such as groups, add that to scopes.",
    "平台没有向本客户端发送 operators.claim 指定的声明。请核对名称；如果它属于单独的范围（例如 groups），请加入 scopes。",
  ),
  no_value: row(
    "The claim of operators.claim has none of the values in operators.roles. Put the person into one of those groups, or add the value.",
    "operators.claim 指定的声明中没有 operators.roles 列出的值。请把此人加入其中一个组，或补上该值。",
  ),
} as const satisfies Record<string, Bilingual>;

export type SsoCause = keyof typeof ssoCauses;

function row(en: string, zh: string): Bilingual {
  return { en, zh };
}
