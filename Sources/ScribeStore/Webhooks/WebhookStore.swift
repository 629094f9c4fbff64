/// Webhooks and the deliveries to them.
package struct WebhookStore: StorePart {
    let store: Store
}
