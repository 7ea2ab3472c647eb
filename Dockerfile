# The browser's door in a container. The image holds no models: the first start fetches them into the volume /models.
# Calls come over UDP ports of the host, so run it with the host's network: docker run --network host -v models:/models IMAGE
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE ./
COPY models ./models
COPY config ./config
COPY voiceagent ./voiceagent
RUN python -m venv /opt/voiceagent \
    && /opt/voiceagent/bin/pip install --no-cache-dir -c constraints.txt '.[piper]'

FROM python:3.11-slim-bookworm
ENV PATH=/opt/voiceagent/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    VOICEAGENT_MODELS=/models \
    VOICEAGENT_ROOM__DATABASE=/data/rooms.db
RUN useradd --create-home --uid 10001 voiceagent \
    && install -d -o voiceagent -g voiceagent /models /data
COPY --from=build /opt/voiceagent /opt/voiceagent
COPY --chown=voiceagent:voiceagent config /home/voiceagent/config
WORKDIR /home/voiceagent
USER 10001
VOLUME ["/models", "/data"]
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=180s --retries=3 \
    CMD ["python", "-c", "import http.client as h, sys; c = h.HTTPConnection('127.0.0.1', 8080, timeout=3); c.request('GET', '/healthz'); sys.exit(c.getresponse().status >= 500)"]
CMD ["sh", "-c", "voiceagent models pull && exec voiceagent serve --config config/browser.toml --port 8080"]
