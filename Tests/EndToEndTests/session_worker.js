// Uploads one file after the other, with neither a token nor a cookie.
onconnect = event => {
  const port = event.ports[0]
  port.onmessage = async ({ data: { target, name, expired } }) => {
    const form = new FormData()
    for (const [field, value] of Object.entries(target.uploadData.fields)) {
      form.append(field, expired && field === "x-amz-signature" ? "0".repeat(64) : value.replace("${filename}", name))
    }
    const audio = await (await fetch(name)).blob()
    form.append("Content-Type", "audio/mp3")
    form.append("file", audio, name)
    try {
      const answer = await fetch(target.uploadData.url, { method: "POST", body: form, credentials: "omit" })
      port.postMessage({ status: answer.status })
    } catch (error) {
      port.postMessage({ status: 599, error: String(error) })
    }
  }
}
