import type { ErrorCode } from "./errors.ts";
import type { ParameterProblem } from "./failure.ts";

interface Row {
  readonly title: string;
  readonly message: string;
  readonly nextAction: string;
}

/** The texts of the error table in Chinese. `{name}` is filled as in English, whose title is the code in words. */
export const errorsZh: Record<ErrorCode, Row> = {
  invalid_json: row("请求体无效", "请求体不是有效的 JSON。", "请发送一个 JSON 对象。"),
  invalid_params: row("参数有误", "参数有误：{problems}。", "请按 details 逐项更正。"),
  missing_parameter: row("缺少参数", "缺少参数 {param}。", "请补上 {param}。"),
  unknown_parameter: row("参数不存在", "{operation} 的参数 {param} 不存在。", "{fix}"),
  ambiguous_parameter: row("参数重复", "{param} 出现了两次，取值不同。", "请只发送一次 {param}。"),
  unknown_operation: row("接口不存在", "接口 {operation} 不存在。", "{fix}"),
  invalid_capability: row(
    "能力不存在",
    "能力 {capability} 不存在。",
    "请使用 /capabilities.json 列出的 domain 和 type。",
  ),
  domain_mismatch: row(
    "领域不符",
    "{operation} 属于 {expected}，不属于 {domain}。",
    "请去掉 domain，或改为 {expected}。",
  ),
  page_out_of_range: row(
    "超出分页范围",
    "page × page_size 超出了前 10,000 条结果。",
    "请用筛选条件缩小范围。",
  ),
  snapshot_expired: row("快照已过期", "快照 {snapshot} 已过期。", "请去掉 snapshot，从第 1 页重新开始。"),
  missing_api_key: row(
    "缺少 API 密钥",
    "请求没有携带 API 密钥。",
    "请发送请求头 Authorization: Bearer <API_KEY>。",
  ),
  invalid_api_key: row("API 密钥无效", "API 密钥无效。", "请检查 API 密钥，或在控制台新建一个。"),
  ambiguous_credentials: row(
    "API 密钥不一致",
    "Authorization 和 X-API-Key 中的 API 密钥不一致。",
    "请只使用其中一个。",
  ),
  key_in_url: row(
    "URL 含有 API 密钥",
    "URL 或请求体中含有 API 密钥，可能已被日志记录。",
    "请轮换该 API 密钥，并改用请求头 Authorization: Bearer <API_KEY>。",
  ),
  insufficient_balance: row(
    "余额不足",
    "本次调用需要 {required} 点，余额 {balance} 点，还差 {shortfall} 点。",
    "请充值后重试。",
  ),
  spend_limit_reached: row(
    "密钥额度已用完",
    "该 API 密钥在 {month} 的额度 {cap} 点已用完。",
    "请提高该密钥的 monthly_cap，或等到下个月（北京时间）。",
  ),
  project_budget_reached: row(
    "项目预算已用完",
    "项目 {project} 在 {month} 的预算 {budget} 点已用 {spent} 点，本次调用需要 {required} 点。",
    "请提高项目的 monthly_budget，或等到 {resets_at}。",
  ),
  project_in_use: row(
    "项目仍在使用",
    "项目 {project} 还有 {keys} 个 API 密钥。",
    "请先吊销其密钥，再删除项目。",
  ),
  price_above_max: row(
    "超过 max_tokens",
    "本次调用需要 {required} 点，超过了 max_tokens（{max_tokens}）。",
    "请提高或去掉 max_tokens。",
  ),
  budget_exceeded: row(
    "超出会话预算",
    "本次调用需要 {required} 点，会话预算 {budget} 点，只剩 {left} 点。",
    "请提高 X-Tokens-Budget，或换一个 X-Session-Id 开始新会话。",
  ),
  terms_not_accepted: row(
    "使用条款尚未同意",
    "该账户的所有者尚未同意 {from} 起生效的使用条款（{version}）。",
    "请所有者在控制台同意：{page}",
  ),
  person_required: row(
    "须由登录的人操作",
    "价格、优惠和超过 {limit} 元的金额只能由登录的人操作，不能用密钥。",
    "请在控制台操作。",
  ),
  scope_denied: row("没有权限", "该 API 密钥没有 {scope} 权限。", "请使用具有 {scope} 权限的 API 密钥。"),
  ip_denied: row(
    "IP 地址不允许",
    "该 API 密钥不允许从此 IP 地址使用。",
    "请从 ip_list 中的地址调用，或修改该列表。",
  ),
  foreign_page: row("来自其他网站", "请求来自其他网站的页面。", "请从本服务自己的地址打开控制台。"),
  grant_denied: row(
    "不能授予",
    "自身的 API 密钥没有这项权限，不能授予：{right}。",
    "请修改 {param}，或使用没有该限制的 API 密钥。",
  ),
  live_key_required: row("需要正式密钥", "测试密钥不能执行此操作。", "请使用正式密钥。"),
  host_not_allowed: row(
    "主机名不允许",
    "本服务不接受主机名为 {host} 的请求。",
    "请使用服务启动时显示的地址，或把该主机名加入 DATAQ_ALLOWED_HOSTS。",
  ),
  origin_not_allowed: row(
    "来源不允许",
    "本服务不接受来自 {origin} 页面的请求。",
    "请从程序中调用，或把该来源加入 DATAQ_ORIGINS。",
  ),
  account_frozen: row("账户已冻结", "账户已被冻结。", "请联系本服务的运营方。"),
  not_found: row("没有找到", "没有找到。", "请检查编号或参数。"),
  not_cached: row("缓存中没有", "缓存中没有这个结果。", "请去掉 cache: only，向数据源查询。"),
  no_such_route: row(
    "路由不存在",
    "路由 {method} {path} 不存在。",
    "可用的接口见 /v1/catalog，全部路由见 /docs。",
  ),
  method_not_allowed: row("方法不允许", "{path} 不接受 {method}。", "请使用 {allowed}。"),
  idempotency_conflict: row(
    "首个请求仍在进行",
    "使用该 Idempotency-Key 的第一个请求仍在进行。",
    "请稍后使用同一个 Idempotency-Key 重试。",
  ),
  already_exists: row("已经存在", "已经存在，不能重复创建。", "请使用已有的那一个。"),
  too_many: row("数量已达上限", "数量已达上限（{limit}）。", "请先删除不再需要的。"),
  webhook_disabled: row("Webhook 已停用", "该 Webhook 已停用。", "请先启用，再重新发送。"),
  payment_state: row("付款状态不符", "该笔付款的状态是“{state}”。", "请重新查询这笔付款，按其状态处理。"),
  approval_needed: row(
    "需要第二个人批准",
    "该操作需要第二个人批准，已记为 {id}。",
    "请另一位运营人员在控制台批准，或由其发送相同的请求。",
  ),
  account_busy: row(
    "账户不能注销",
    "账户现在不能注销。",
    "请等待进行中的调用、付款和退款完成，并结清信用额度。运营方自己的账户不能注销。",
  ),
  last_owner: row("须有一位所有者", "账户至少需要一位所有者。", "请先将另一位成员设为所有者。"),
  body_too_large: row("请求体过大", "请求体超过 {limit} 字节。", "请缩小请求体。"),
  not_acceptable: row(
    "返回类型不支持",
    "无法以 Accept 请求头中的类型返回；可选的类型：{offered}。",
    "请在 Accept 请求头中发送其中一种类型，或 */*。",
  ),
  unsupported_media_type: row(
    "请求体类型不支持",
    "Content-Type 应为 UTF-8 编码的 application/json（现为 {type}）。",
    "请发送请求头 Content-Type: application/json。",
  ),
  unsupported_encoding: row(
    "请求体编码不支持",
    "不接受压缩的请求体（Content-Encoding 为 {encoding}）。",
    "请发送未压缩的请求体。",
  ),
  idempotency_mismatch: row(
    "幂等键已被使用",
    "该 Idempotency-Key 已用于另一个请求。",
    "新的请求请使用新的 Idempotency-Key。",
  ),
  invalid_voucher: row("充值码无效", "充值码无效、已使用或已过期。", "请检查是否输错。"),
  provider_off: row(
    "付款方式未开通",
    "本服务没有开通这种付款方式（{provider}）。",
    "请使用 /v1/payments/options 中的方式，或兑换充值码。",
  ),
  invalid_notification: row(
    "通知无效",
    "付款通知无效（{provider}）：{reason}。",
    "请检查 payments.json 中该平台的密钥和本机时间。",
  ),
  invalid_logout_token: row(
    "登出令牌无效",
    "登出令牌无效：{reason}。",
    "请检查 sso.json 中的 issuer 和 client_id、平台的密钥，以及本机时钟。",
  ),
  invalid_invitation: row(
    "邀请无效",
    "该邀请已使用、已过期，或发给了另一个邮箱。",
    "请用受邀的邮箱登录，或请对方重新邀请。",
  ),
  too_many_sessions: row(
    "会话过多",
    "该账户已有 {limit} 个设有预算的会话。",
    "请使用已有会话的 X-Session-Id。会话在最后一次调用 24 小时后结束。",
  ),
  no_words: row(
    "没有可检索的文字",
    "{param} 中没有可检索的文字，未扣费。",
    "请至少包含一个汉字、字母或数字。",
  ),
  verification_required: row("需要验证", "{carrier} 要求提供 {param}（手机号后四位）。", "请补上 {param}。"),
  rate_limited: row("请求过于频繁", "请求过于频繁。", "请在 {retry_after} 秒后重试。"),
  concurrency_limited: row("并发请求过多", "并发请求过多。", "请在 {retry_after} 秒后重试。"),
  daily_limit: row(
    "今日次数已用完",
    "今天的调用次数已用完。",
    "请在 {retry_after} 秒后（北京时间零点）重试，或充值以获得更高的限额。",
  ),
  client_closed_request: row("客户端已断开", "客户端在收到响应之前断开了连接。", "请重试。"),
  internal_error: row(
    "服务内部错误",
    "服务内部错误，未扣费。",
    "请重试；如果仍然出错，请提供请求 ID 以便排查。",
  ),
  not_configured: row("暂无可用数据源", "{operation} 暂无可用数据源，未扣费。", "{fix}"),
  upstream_error: row("数据源异常", "{operation} 的数据源返回异常，未扣费。", "请稍后重试。"),
  payment_refused: row("付款未受理", "付款平台没有受理（{provider}）。", "请稍后重试，或换一种付款方式。"),
  upstream_timeout: row("数据源超时", "{operation} 的数据源响应超时，未扣费。", "请稍后重试。"),
  preparing: row(
    "数据准备中",
    "{operation} 的首批数据正在准备中，已完成 {percent}%，未扣费。",
    "请在 {retry_after} 秒后重试，进度见 GET /v1/status。",
  ),
  maintenance: row(
    "正在维护",
    "服务正在维护：{notice}期间不扣费。",
    "请在 {retry_after} 秒后重试，恢复情况见 /status。",
  ),
  unavailable: row("服务暂时不可用", "服务暂时不可用，未扣费。", "请在 {retry_after} 秒后重试。"),
};

/** Returns the Chinese message for a problem with a parameter, by the problem's code. */
export function problemZh({ param, code }: Pick<ParameterProblem, "param" | "code">): string {
  return `${param} ${problems[code as keyof typeof problems] ?? "的值无效"}`;
}

const problems = {
  missing: "缺失",
  unknown: "不存在",
  unrecognized_keys: "不存在",
  ambiguous: "出现两次且取值不同",
  type: "的类型不对",
  invalid_type: "的类型不对或缺失",
  format: "的格式不对",
  invalid_format: "的格式不对",
  length: "的长度不对",
  character: "含有不允许的字符",
  checksum: "的校验码不对",
  invalid_text: "不是有效的 Unicode 文字",
  empty: "为空",
  control_character: "含有控制字符",
  too_long: "太长",
  too_small: "太小或太短",
  too_big: "太大或太长",
  unknown_platform: "不是已知的平台",
  unknown_carrier: "不是已知的快递公司",
  conflict: "与其他参数矛盾",
  incomplete: "还需要另一个参数",
  unsupported: "不受当前数据来源支持",
  mismatch: "与接口不符",
  no_such_date: "中的日期不存在",
  future: "是未来的日期（北京时间）",
  past: "早于当前时间",
  too_early: "的日期太早",
  range: "超出允许的范围",
  choice: "不是可选的值",
  invalid_value: "不是可选的值",
  field: "中的筛选条件有误",
  no_words: "中没有可检索的文字",
  no_source: "暂无可用数据源",
  samples_only: "只有样例",
  sandbox: "不是沙箱支持的特殊输入",
} as const;

function row(title: string, message: string, nextAction: string): Row {
  return { title, message, nextAction };
}
