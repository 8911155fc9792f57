"""Runs the cases of dataq/cases/webhooks.json, and messages that the standard's library signs."""

import base64
import datetime
import json
import os
import sys
import unittest

from dataq_client import ConfigurationError, WebhookVerificationError, verify_webhook

with open(sys.argv.pop(1), encoding="utf-8") as file:
    CASES = json.load(file)


class Webhooks(unittest.TestCase):
    def test_cases(self) -> None:
        for case in CASES:
            words = {key: case[key] for key in ("now", "tolerance") if key in case}
            for body in (case["body"], case["body"].encode()):
                with self.subTest(case["name"]):
                    if "code" not in case:
                        message = verify_webhook(body, case["headers"], case["secret"], **words)
                        self.assertEqual(message, json.loads(body))
                        continue
                    with self.assertRaises((WebhookVerificationError, ConfigurationError)) as caught:
                        verify_webhook(body, case["headers"], case["secret"], **words)
                    self.assertEqual(caught.exception.code, case["code"])

    def test_standard(self) -> None:
        try:
            from standardwebhooks import Webhook
        except ImportError:
            self.skipTest("needs standardwebhooks from pip")
        for length in (1, 24, 64, 200):
            secret = "whsec_" + base64.b64encode(os.urandom(length)).decode()
            now = datetime.datetime.now(tz=datetime.timezone.utc)
            body = json.dumps({"type": "balance.low", "data": {"note": "余额"}}, ensure_ascii=False)
            headers = {
                "Webhook-Id": "msg_z",
                "Webhook-Timestamp": str(int(now.timestamp())),
                "Webhook-Signature": Webhook(secret).sign("msg_z", now, body),
            }
            self.assertEqual(verify_webhook(body, headers, secret)["type"], "balance.low")


if __name__ == "__main__":
    unittest.main()
